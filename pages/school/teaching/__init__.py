"""A class from the teacher's side: what is asked, what stands on the projector, her notes, the report, who follows."""
