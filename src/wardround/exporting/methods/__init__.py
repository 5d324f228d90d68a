"""The Methods and Results of a paper, written from a run."""
