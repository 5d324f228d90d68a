"""Runs a study on the starter set from Python, and plots accuracy with its intervals."""

import altair as alt

import wardround as wr

cases = wr.starter_cases("starter-cases")
candidates = [
    wr.Candidate(name="pixels", provider="pixels"),
    wr.Candidate(name="random", provider="random", sees=False),
]
study = wr.Study(name="notebook", cases="starter-cases", questions=["choice"], candidates=candidates, trials=3)
run = wr.run(study)

accuracy = run.measures.filter(measure="accuracy", slice="{}")
points = alt.Chart(accuracy).mark_point(filled=True).encode(x=alt.X("value", title="accuracy"), y="candidate")
intervals = alt.Chart(accuracy).mark_rule().encode(x="low", x2="high", y="candidate")
(points + intervals).save("accuracy.html")
print(accuracy.select("candidate", "value", "low", "high", "n"))
