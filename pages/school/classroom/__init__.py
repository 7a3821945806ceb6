"""Classes that vote: phases, storage, tallies, and the routes for phones.

Independent of Streamlit and the model: questions are plain values, made by the caller.
"""
