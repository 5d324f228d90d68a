"""Makes what tests share importable: exam_server and exam_study stand beside this file."""
