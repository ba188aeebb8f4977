"""thousand.py PROGRAM ADDRESS PID SECONDS: starts and ends 5,000 processes of PROGRAM (`children wait`) at random, 100 at a
time, while PID exports the figures of all at ADDRESS, and compares these with what the processes say of themselves."""
import os
import random
import re
import subprocess
import sys
import time
import urllib.request

PROCESSES, AT_A_TIME = 5000, 100
program, address, pid, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
command = os.path.basename(program)[:15]


def scrape():
    text = urllib.request.urlopen(address, timeout=30).read().decode()
    sums = {}
    for line in text.splitlines():
        found = re.match(r'(\w+)\{(.*)\} (\S+)$', line)
        if found and f'command="{command}"' in found[2]:
            sums[found[1]] = sums.get(found[1], 0) + float(found[3])
    return sums


def memory_of_its_own():
    with open(f"/proc/{pid}/status") as file: # without the kernel's tables, which it maps as they are touched
        return int(re.search(r"RssAnon:\s+(\d+) kB", file.read())[1]) << 10


def cpu_seconds():
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Process:
    def __init__(self, now, least):
        self.process = subprocess.Popen([program, "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.work, self.end = sorted(now + random.uniform(0, least) for _ in range(2))
        self.worked = False

    def step(self, now):
        """Its line, once it has ended."""
        if not self.worked and now >= self.work:
            self.process.stdin.write(b"\n")
            self.process.stdin.flush()
            self.worked = True
        if now < self.end or not self.worked:
            return None
        return self.process.communicate(b"\n")[0].decode()


random.seed(1)
before, begin = scrape(), time.monotonic()
life = 2 * seconds * AT_A_TIME / PROCESSES
alive, lines, started, memory = [], [], 0, []
while len(lines) < PROCESSES:
    now = time.monotonic()
    while len(alive) < AT_A_TIME and started < PROCESSES:
        alive.append(Process(now, life))
        started += 1
    for process in list(alive):
        line = process.step(now)
        if line is not None:
            lines.append([int(word) for word in line.split()])
            alive.remove(process)
    if now - begin > len(memory) * seconds / 20:
        memory.append(memory_of_its_own())
        scrape()
    time.sleep(0.01)
time.sleep(1)
after, spent = scrape(), cpu_seconds()
failed = False
for name, column in (("eden_scavenges_total", 1), ("eden_allocated_bytes_total", 2), ("eden_tenured_bytes_total", 3)):
    said, seen = sum(line[column] for line in lines), after[name] - before.get(name, 0)
    print(f"{name}: {seen:.0f}, {said} by {len(lines)} processes")
    failed |= said != seen
left = after["eden_heaps"] - before["eden_heaps"]
settled, last = memory[len(memory) // 4], memory[-1]
print(f"heaps alive: {left:.0f} more than before; memory of the tool: {settled >> 20} MiB after a quarter, "
      f"{last >> 20} MiB at the end; {spent:.1f} s of processor time in {time.monotonic() - begin:.0f} s")
is_flat = last <= settled + settled // 4 + (4 << 20)  # what is kept of 5,000 processes would be more
sys.exit(failed or left != 0 or not is_flat)
