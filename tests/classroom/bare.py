"""The floor that a page is compared with: two sliders, a text box, as many heatmaps, and nothing else."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

st.text_input("Sentence", key="s")
layer, head = st.slider("Layer", 1, 6, key="layer"), st.slider("Head", 1, 8, key="head")
for number in range(int(st.query_params["charts"])):
    weights = np.random.default_rng((layer, head, number)).random((14, 14), dtype=np.float32)
    st.plotly_chart(go.Figure(go.Heatmap(z=weights)), key=f"chart {number}")
