"""What holds for every test: a terminal's signals are what they are in a terminal."""

import signal

# A shell that runs us in the background has them ignored, and so would the processes that we start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# So does `nohup`.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
