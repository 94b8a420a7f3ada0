"""Private learners with the conventions of scikit-learn: clusters, regression, classification.

A learner takes public bounds or categories and a privacy loss. `fit` spends this loss and learns
from noisy sums over the rows alone. It runs a sequence of rounds, each of which releases a vector
of exact sums with noise. The functions that are summed in a round may depend on the answers of
earlier rounds. One allocation of a budget pays for all rounds (``dpfast/sulq/rounds.py`` has the
proof).
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
