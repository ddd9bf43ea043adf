"""Evaluation: metrics of beliefs and tracks at their stamps, and the past truth that this needs."""

from astray.engine.evaluation.belief_evaluator import BeliefEvaluator
from astray.engine.evaluation.evaluation import Evaluation, Subjects
from astray.engine.evaluation.track_evaluator import TrackEvaluator

__all__ = ["BeliefEvaluator", "Evaluation", "Subjects", "TrackEvaluator"]
