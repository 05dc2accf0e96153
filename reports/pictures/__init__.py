"""Pictures of a run as inline SVG.

Colours come from the page's style sheet by class, so that a picture follows light and dark. No
meaning rests on colour alone: outcomes differ in height and letter, series in dashes and label.
"""
