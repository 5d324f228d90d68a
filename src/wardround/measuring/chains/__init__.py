"""Chains of dependent stages (X-PCR): completeness, where they break, and how errors spread."""
