"""Run a command that must not outlive whoever asked for it, whatever kills the asker.

Started as a script of its own, ``supervise.py CONSOLE COMMAND...``: the command's output goes to the file CONSOLE, its
process id is the one line on standard output. When standard input ends, because its holder closed it or was killed in
any way, the command gets SIGTERM and, if that does not end it, SIGKILL. Should this process be killed itself, the
kernel kills the command (PR_SET_PDEATHSIG). That signal alone would not do: it goes by the thread that started a
process, and switches are started from threads that come and go.

It imports nothing of the project, so that it starts in a few milliseconds (``python -I -S``).
"""

import ctypes
import os
import select
import signal
import sys

_PR_SET_PDEATHSIG = 1
_PATIENCE_S = 2.0


def main(console: str, command: list[str]) -> int:
    """Run `command` until it ends or standard input does, and return its exit status (negative: a signal)."""
    # The terminal's Ctrl-C is for whoever holds standard input, which then ends the command in order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    output = os.open(console, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    supervisor = os.getpid()
    pid = os.fork()
    if pid == 0:
        _become(supervisor, output, command)
    ended = os.pidfd_open(pid)
    os.write(sys.stdout.fileno(), b"%d\n" % pid)
    waiting: list[int] = [sys.stdin.fileno(), ended]
    if ended not in select.select(waiting, [], [])[0]:
        signal.pidfd_send_signal(ended, signal.SIGTERM)
        if not select.select([ended], [], [], _PATIENCE_S)[0]:
            signal.pidfd_send_signal(ended, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _become(supervisor: int, output: int, command: list[str]) -> None:
    """Replace this child of `supervisor` by `command`."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != supervisor:
        os._exit(1)  # it died before the kernel knew
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    try:
        os.execv(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error}\n".encode())
        os._exit(127)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
