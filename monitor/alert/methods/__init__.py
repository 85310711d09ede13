"""Alert methods: counts, new answers, labelled rates or runs of probes come in, an observation goes out.

A new method takes one file and one line in `METHODS`.
"""

from __future__ import annotations

from collections.abc import Mapping

from monitor.alert.methods.absence import Absence
from monitor.alert.methods.burn_rate import BurnRate
from monitor.alert.methods.change import Change
from monitor.alert.methods.decline import Decline
from monitor.alert.methods.method import Method
from monitor.alert.methods.rate import Rate
from monitor.alert.methods.sequential import Sequential
from monitor.alert.methods.shift import Shift
from monitor.alert.methods.threshold import Threshold

METHODS: Mapping[str, type[Method]] = {
    method.name: method for method in (Threshold, BurnRate, Sequential, Change, Absence, Shift, Rate, Decline)
}
