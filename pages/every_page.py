"""What Streamlit runs for each visitor at each choice: the frame that all pages share, and in it the page.

No folder named pages/ lies beside this file. Beside app.py one does, and Streamlit would take each file in it for a
page of its own until the first visitor of a server has come.
"""

from pages.school import additions
from pages.screen.frame.frame import frame

frame(additions)
