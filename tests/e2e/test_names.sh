#!/usr/bin/env bash
# A process whose every name is made to steer terminals, to break formats or to look like another: through each command
# and each form of output, on standard output and on standard error, live and from a recording.
. "$(dirname "$0")/common.sh"
need_edenscope

forms=tests/e2e/forms.py
hostile=$build/tests/hostile
commands=()
mkdir "$folder/outputs"

# checked FORM STATUS COMMAND...: it ends so. That its output has the form, and its messages that of text, is checked at
# the end, for all commands at once.
checked() {
    local form=$1 wanted=$2 at=$folder/outputs/${#commands[@]}
    shift 2
    expect_status "$wanted" "$@"
    [[ $wanted != 0 || -s $folder/out ]] || die "$* printed nothing"
    printf '%s\n' "$*" >"$at.command"
    cp "$folder/out" "$at.$form"
    cp "$folder/err" "$at.messages.text"
    cp "$at.command" "$at.messages.command"
    commands+=("$1")
}

# shows WHAT TEXT [FILE]: the last command's output, or the file, has it.
shows() {
    grep -aqF -- "$2" "${3:-$folder/out}" || die "$1: '$2' is not in the output: $(head -c 2000 "${3:-$folder/out}")"
}

mkdir "$folder/programs"
"$hostile" names "$folder/programs" >"$folder/ready" &
target=$!
until_true "the hostile process is ready" grep -q ready "$folder/ready"
files=("$folder"/programs/*)
[[ ${#files[@]} == 2 ]] || die "the hostile process made ${#files[@]} files"

# ---- live

name='\x1b[1m\u{9b};,"\x0a\u{202e}='
checked text 0 "$scope" list
shows "the process's name" "$name"
shows "a name that may be shown" '€ été-fine-end'
checked json 0 "$scope" list --json
checked text 0 "$scope" list -p "$target" --params --classes
shows "a class" '(a site of class' # else nothing that is foreign was printed
checked json 0 "$scope" list -p "$target" --params --classes --json
checked text 0 "$scope" list "${files[@]}"
shows "the program's name" 'esc-\x1b[31m\x1b]0;title\x07-end'
checked json 0 "$scope" list --json "${files[@]}"
checked text 0 "$scope" stat -v -p "$target" 0.1 3
shows "the program's name" 'esc-\x1b[31m\x1b]0;title\x07-end' "$folder/err"
checked json 0 "$scope" stat --json -p "$target" 0.1 3
checked text 0 "$scope" lifetimes -v --sampling all -p "$target" 0.2
checked json 0 "$scope" lifetimes --sampling all --json -p "$target" 0.2

attached() { grep -q "attached in" "$folder/late"; }
"$scope" stat -v -o "$folder/outputs/table.text" -p "$target" 2>"$folder/late" &
tool=$!
until_true "stat is attached" attached
kill -INT "$tool"
wait "$tool" || die "stat gave status $?"
echo "stat -o" >"$folder/outputs/table.command"
shows "the process's name" "$name" "$folder/outputs/table.text"
kill "$target"

# ---- a recording

data=$'\e]0;x\a\xc2\x9b31m\xe2\x80\xae.data'
cd "$folder"
scope=$OLDPWD/$scope forms=$OLDPWD/$forms page=$OLDPWD/tests/e2e/page.py
# policy=fixed: simulate refuses others.
EDEN_OPTIONS=policy=fixed checked text 0 "$scope" record -v --force -o "$data" --objects --lifetimes=details --sampling all \
    -- "${files[0]}" names "$folder/programs" 2
shows "the recording's name" '\x1b]0;x\x07\u{9b}31m\u{202e}.data' err
[[ -s $data ]] || die "there is no recording"

# What no process can say, but a file.
sqlite3 "$data" "UPDATE meta SET value = CAST(x'1b5b33316dc29b3c2f613e5c0a9be280ae' AS TEXT) WHERE key = 'command'"

everything() {
    local form=$1
    shift
    checked "$form" 0 "$scope" "$@" -i "$data"
}
everything text report
shows "the command" '# command: \x1b[31m\u{9b}</a>\\\x0a\x9b\u{202e}'
expect_status 0 "$scope" report -i "$data" --html page.html
python3 "$page" page.html >page.json || die "the page does not keep its form"
grep -qF '</a>' page.html && die "the command is markup"
everything text report --heap 1
everything json report --json
for view in pauses stops histogram phases causes timeline heap tenuring remembered segments classes; do
    everything text report --view $view
    everything json report --view $view --json
    everything text report --view $view -x ';'
done
everything text script
shows "a name with blanks" "\\x20"
everything json script --json
everything trace script --chrome
checked text 0 "$scope" diff --force "$data" "$data"
checked json 0 "$scope" diff --force --json "$data" "$data"
everything csv script --csv
everything text tune
everything json tune --json
everything text tune --emit options
checked text 0 "$scope" simulate -i "$data" --heap 1 eden_size=1M
checked json 0 "$scope" simulate -i "$data" --heap 1 --json eden_size=1M
everything text lifetimes
everything json lifetimes --json
for view in percentiles survival:csv survival-svg:svg density density-svg:svg histogram histogram-svg:svg heatmap \
    heatmap-svg:svg tenured nepotism ndjson:json csv:csv folded:folded pprof:pprof; do
    form=${view#*:}
    [[ $form != "$view" ]] || form=text
    everything "$form" lifetimes --by-site --view "${view%:*}"
done

# ---- what only fails

for command in report script tune simulate lifetimes; do
    checked text 1 "$scope" "$command" -i $'no\e[31m\xc2\x9b\xe2\x80\xae\xff'
    checked text 1 "$scope" "$command" $'--\e[31m\xc2\x9b'
done
sqlite3 "$data" "PRAGMA writable_schema = ON;
    INSERT INTO sqlite_schema VALUES ('table', 'x'||char(27,155,8238), 'x'||char(27,155,8238), 0, 'CREATE '||char(27,155))"
for command in report script tune lifetimes; do
    checked text 1 "$scope" "$command" -i "$data"
done
checked text 1 "$scope" $'\e[31m\xc2\x9b'
checked text 1 "$scope" list $'\e[31m\xc2\x9b'
checked text 127 "$scope" stat -- $'./\e[31m\xc2\x9b'

mapfile -t outputs < <(find "$folder/outputs" -type f ! -name '*.command')
python3 "$forms" "${outputs[@]}" || die "foreign text does harm"
