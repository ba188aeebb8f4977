# bash completion for edenscope. scripts/manual fills in the commands, their options and the values of these.

_edenscope_options() {
    case $1 in
        @OPTIONS@
    esac
}

# Prints how the value of an option is completed: FILE, PID, - or words.
_edenscope_value() {
    case $1:$2 in
        @VALUES@
    esac
}

_edenscope() {
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} i value
    # bash makes a word of `=`.
    if [[ $current == = ]]; then
        current= before+==
    elif [[ $before == = ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}=
    fi
    COMPREPLY=()
    if [[ $COMP_CWORD -eq 1 ]]; then
        mapfile -t COMPREPLY < <(compgen -W '@COMMANDS@ help --help --version' -- "$current")
        return
    fi
    if [[ $command == help ]]; then
        mapfile -t COMPREPLY < <(compgen -W '@COMMANDS@' -- "$current")
        return
    fi
    for ((i = 2; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == -- ]] || continue
        # From here on it is the program's command line.
        if [[ $(type -t _command_offset) == function ]]; then
            _command_offset $((i + 1))
        elif [[ $COMP_CWORD -eq $((i + 1)) ]]; then
            mapfile -t COMPREPLY < <(compgen -c -- "$current")
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
        fi
        return
    done
    value=$(_edenscope_value "$command" "$before")
    [[ -n $value ]] || value=$(_edenscope_value "$command" "${before%=}")
    case $value in
        FILE)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            ;;
        PID) mapfile -t COMPREPLY < <(compgen -W "$(cd /proc && echo [0-9]*)" -- "$current") ;;
        words*)
            mapfile -t COMPREPLY < <(compgen -W "${value#words }" -- "$current")
            [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *[=/] ]] || compopt -o nospace 2>/dev/null
            ;;
        -) ;;
        *)
            if [[ $current == -* ]]; then
                mapfile -t COMPREPLY < <(compgen -W "$(_edenscope_options "$command")" -- "$current")
            elif [[ $command == list ]]; then
                mapfile -t COMPREPLY < <(compgen -f -- "$current")
            fi
            ;;
    esac
}

complete -F _edenscope edenscope
