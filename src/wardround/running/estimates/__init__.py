"""What a study will be billed: sizes of Asks by rule, scaled by what the server billed so far."""
