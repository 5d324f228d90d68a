"""The desk: a web app in which people review, calibrate, judge and sit the exam."""
