import subprocess
import sys

# Simulates LiveKit: at exit, a call starts on another thread, and needs the GIL again 10 ms later.
PROGRAM = """
import atexit, threading, time
import parley_client

exiting = threading.Event()


def call() -> None:
    exiting.wait()
    time.sleep(0.01)
    print("the call has ended", flush=True)


threading.Thread(target=call, daemon=True).start()
atexit.register(exiting.set)
"""


def test_calls_in_progress_finish_before_the_interpreter_does() -> None:
    program = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=30, check=True)

    assert program.stdout == "the call has ended\n"
