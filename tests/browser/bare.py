"""A bare Streamlit page to compare with: two rows of buttons, and as many heatmaps of the same size."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

layer = st.segmented_control("Layer", [1, 2], default=1, key="either.layer")
token = st.pills("Word", range(10), key="words")
rows, columns = int(st.query_params["rows"]), int(st.query_params["columns"])
for number in range(int(st.query_params["charts"])):
    weights = np.random.default_rng((layer or 0, token or 0, number)).random((rows, columns), dtype=np.float32)
    st.plotly_chart(go.Figure(go.Heatmap(z=weights)), key=f"chart {number}")
