"""A bare Streamlit page to compare Home with: one heatmap."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

st.plotly_chart(go.Figure(go.Heatmap(z=np.random.default_rng(0).random((14, 14), dtype=np.float32))))
