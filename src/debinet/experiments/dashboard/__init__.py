"""The dashboard: errors and coverage of this library and its peers, by design and size."""
