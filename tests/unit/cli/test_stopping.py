"""What a command that keeps running does on Ctrl-C and SIGTERM."""

from __future__ import annotations

import signal

import pytest

from monitor.cli.terminal import stopping


def test_the_first_ctrl_c_asks_to_stop_and_says_what_the_second_does(capsys):
    with stopping() as stop:
        signal.raise_signal(signal.SIGINT)
        assert stop.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    told = capsys.readouterr().err
    assert told == "monitor: stopping; anything in flight is finished first; Ctrl-C again ends at once\n"


def test_sigterm_asks_to_stop_however_often_it_comes(capsys):
    with stopping() as stop:
        for _ in range(2):
            signal.raise_signal(signal.SIGTERM)
        assert stop.is_set()
    assert capsys.readouterr().err == "monitor: stopping; anything in flight is finished first\n"
