"""Published figures as tables and plots look them up: by metric and keys, the usual build first."""

from tools import metrics

PAGES = ("4k", "16k", "64k")
ACCESSORS = ("local", "preempt")
OPERATIONS = ("read", "write", "add", "xchg", "cmpxchg")
# By the way to boot: how many times as long as a bare program the kernel may take from QEMU's start to its end.
FLOOR_RATIO_LIMITS = {"direct": 1.5, "uboot": 2.0}

# Where a look-up leaves a key open and several records fit: the usual build and way to boot come first.
_PREFERENCES = (("toolchain", "gcc"), ("boot", "uboot"), ("form", "pointer"), ("prefill", "on"))


class Figures:
    """The records of one metrics file (`tools.metrics.load`). `missing` collects what `need` asked for in vain."""

    def __init__(self, records):
        self.records = records
        self.missing = []

    def all(self, metric, **keys):
        """Records with these keys. A record without a key that is asked for fits any value of it."""
        records = metrics.select(self.records, metric)
        return [r for r in records if all(str(r.get(k, v)) == str(v) for k, v in keys.items())]

    def get(self, metric, **keys):
        """The value, or None. The record that has most of the asked keys wins, then the usual build."""
        fitting = self.all(metric, **keys)
        if not fitting:
            return None
        return max(fitting, key=lambda r: (sum(k in r for k in keys),
                                           [r.get(k, v) == v for k, v in _PREFERENCES]))["value"]

    def need(self, metric, **keys):
        """As `get`, and remembers what is not there."""
        value = self.get(metric, **keys)
        if value is None:
            self.missing.append(f"{metric} " + " ".join(f"{k}={v}" for k, v in keys.items()))
        return value
