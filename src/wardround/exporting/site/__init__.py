"""A static leaderboard of a lab: figures of many runs with intervals and rank ranges, without texts and images."""
