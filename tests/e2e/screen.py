"""A terminal for a program that draws on one: what it shows, at any size, and what is typed."""
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

import pyte


class Screen:
    def __init__(self, command, lines=24, columns=100, environment=None):
        self.screen = pyte.Screen(columns, lines)
        self.stream = pyte.ByteStream(self.screen)
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ.update({"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"} | (environment or {}))
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
            os.execvp(command[0], command)
        self.status = None

    def resize(self, lines, columns):
        self.screen.resize(lines, columns)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        os.kill(self.pid, signal.SIGWINCH)

    def type(self, text):
        os.write(self.terminal, text.encode())

    def text(self):
        return "\n".join(self.screen.display)

    def has_more(self, seconds):
        return select.select([self.terminal], [], [], seconds)[0] != []

    def read(self, seconds):
        """False: the program has ended."""
        if not self.has_more(seconds):
            return True
        try:
            data = os.read(self.terminal, 65536)
        except OSError:
            data = b""
        self.stream.feed(data)
        return data != b""

    def until(self, what, holds):
        """Waits until what is shown holds; a program that never shows it fails the test."""
        end = time.monotonic() + 60
        while True:
            has_come = self.has_more(0.1)
            if has_come:
                has_come = self.read(0)
                if not has_come:
                    raise SystemExit(f"not so, and it has ended: {what}\n{self.text()}")
            elif holds(self.text()):  # what is drawn is drawn whole
                return self.text()
            elif time.monotonic() > end:
                raise SystemExit(f"not so: {what}\n{self.text()}")

    def end(self):
        """The exit status, once the program has ended."""
        while self.read(60):
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
