"""Evaluation: metrics of beliefs against the truth, and the past of the truth that this needs."""

from astray.engine.evaluation.belief_evaluator import BeliefEvaluator
from astray.engine.evaluation.evaluation import Evaluation, Subjects
from astray.engine.evaluation.track_evaluator import TrackEvaluator

__all__ = ["BeliefEvaluator", "Evaluation", "Subjects", "TrackEvaluator"]
