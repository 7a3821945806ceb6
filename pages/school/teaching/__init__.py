"""The teacher's side of a class: questions, projector, notes, report, and leading followers."""
