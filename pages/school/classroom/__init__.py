"""A class that answers: its phases, where it is kept, what its votes add up to, and what its phones fetch.

It knows neither Streamlit nor the model: a question comes as plain values, made by who asks it.
"""
