"""Settings of hypothesis for the tests of the wire."""

from hypothesis import settings

# Two workers share two cores with simulators: how long an example takes says nothing about the code.
settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")
