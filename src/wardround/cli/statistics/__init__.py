"""Commands about the statistics themselves: planning a study, and checking that measures find what is there."""
