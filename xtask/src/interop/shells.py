"""A person at an interactive shell: types a line, presses TAB, and Enter if the line has an end, and looks for a text on the
screen.

python3 shells.py LINE WANT SHELL [ARGUMENT...]

The shell reads its settings from standard input of this program. Prints the screen, without what moves the cursor; ends
with 1 if the text does not appear within 20 seconds of the last key.
"""

import os
import pty
import re
import select
import sys
import time

LIMIT = 20.0
READY = "the-shell-is-ready"


def main():
    line, want, shell = sys.argv[1], sys.argv[2], sys.argv[3:]
    settings = sys.stdin.read()
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="dumb", COLUMNS="200", LINES="50")
        os.execvp(shell[0], shell)
    screen = Screen(terminal)
    # The echo of the line shows the two halves apart; only its output shows them together.
    halves = READY.split("-shell-")
    os.write(terminal, f"{settings}\nprintf '%s-shell-%s\\n' {halves[0]} {halves[1]}\n".encode())
    is_ready = screen.shows(READY)
    screen.forget()
    # A line with its end is run after TAB.
    os.write(terminal, f"{line.rstrip()}\t".encode())
    if line.endswith("\n"):
        os.write(terminal, b"\n")
    found = is_ready and screen.shows(want)
    print(screen.text)
    os.close(terminal)
    sys.exit(0 if found else 1)


class Screen:
    def __init__(self, terminal):
        self.terminal = terminal
        self.raw = b""

    @property
    def text(self):
        text = self.raw.decode(errors="replace")
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|[\r\x07]", "", text)

    def forget(self):
        self.raw = b""

    def shows(self, want):
        end = time.monotonic() + LIMIT
        while want not in self.text:
            ready, _, _ = select.select([self.terminal], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                return False
            try:
                more = os.read(self.terminal, 65536)
            except OSError:
                return False
            if not more:
                return False
            self.raw += more
        return True


main()
