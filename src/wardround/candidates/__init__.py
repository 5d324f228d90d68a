"""Who answers: servers, a model in this memory, floors, and respondents with a planted truth."""
