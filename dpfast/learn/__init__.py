"""Learners with the conventions of scikit-learn, which learn from noisy sums over the rows alone.

`fit` runs a sequence of rounds, each of which releases a vector of exact sums over the rows with
noise. The summed functions of a round may depend on all earlier answers. One allocation of a budget
pays for all rounds (``dpfast/sulq/rounds.py`` has the proof), and no further round is answered.
"""

from .additive_boosting import AdditiveBoostingClassifier, AdditiveBoostingRegressor
from .cross_validation import CrossValidation, cross_validate
from .estimator import NotFittedError
from .id3 import ID3Classifier
from .kmeans import KMeans
from .linear_regression import LinearRegression
from .logistic_regression import LogisticRegression
from .naive_bayes import NaiveBayes
from .pca import PCA, TruncatedSVD
from .perceptron import Perceptron
from .random_forest import RandomForestClassifier
from .standard_scaler import StandardScaler

__all__ = [
    "PCA",
    "AdditiveBoostingClassifier",
    "AdditiveBoostingRegressor",
    "CrossValidation",
    "ID3Classifier",
    "KMeans",
    "LinearRegression",
    "LogisticRegression",
    "NaiveBayes",
    "NotFittedError",
    "Perceptron",
    "RandomForestClassifier",
    "StandardScaler",
    "TruncatedSVD",
    "cross_validate",
]
