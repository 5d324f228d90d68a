"""The kinds of task. A new one is a file in this folder, a template, and a line in this list."""

from wardround.desk.tasks.construct import Construct
from wardround.desk.tasks.criteria import RubricCriteria
from wardround.desk.tasks.errors import ErrorClasses
from wardround.desk.tasks.exam import Exam
from wardround.desk.tasks.grading import Grading
from wardround.desk.tasks.judge import JudgeValidation
from wardround.desk.tasks.retain import Retain
from wardround.desk.tasks.review import Review
from wardround.desk.tasks.rubrics import RubricWriting
from wardround.desk.tasks.severity import Severity
from wardround.desk.tasks.task_kind import TaskKind

KINDS: tuple[TaskKind, ...] = (
    *(Construct(), Review(), Retain(), JudgeValidation()),
    *(RubricWriting(), RubricCriteria(), ErrorClasses(), Severity(), Grading(), Exam()),
)
