"""SuLQ: noisy sums of functions of a row, and learners that see nothing else of the data.

Everything here is a sequence of rounds, each a vector of exact sums over the rows with noise. Which
function is summed in a round may depend on all answers before it. One allocation of a budget pays
for all rounds, and no further round is answered.

Blum, Dwork, McSherry and Nissim, "Practical privacy: the SuLQ framework", PODS 2005.
"""

from .additive_boosting import AdditiveBoostingClassifier, AdditiveBoostingRegressor
from .conditions import Attribute, Condition
from .cross_validation import CrossValidation, cross_validate
from .estimator import NotFittedError
from .id3 import ID3Classifier
from .implication import Implication, ImplicationTest, implication_strength, implication_test
from .kmeans import KMeans
from .linear_regression import LinearRegression
from .logistic_regression import LogisticRegression
from .naive_bayes import NaiveBayes
from .noisy_sums import NoisySums, original_variance
from .oracle import ExactOracle, StatisticalQueryOracle, oracle_cost
from .pca import PCA, TruncatedSVD
from .perceptron import Perceptron
from .query_learners import (
    Conjunction,
    Halfspace,
    conjunction_needs,
    halfspace_needs,
    learn_conjunction,
    learn_halfspace,
)
from .random_forest import RandomForestClassifier
from .remote_sums import RemoteSums, serve
from .row_sets import RowSets
from .standard_scaler import StandardScaler
from .terms import Term

__all__ = [
    "PCA",
    "AdditiveBoostingClassifier",
    "AdditiveBoostingRegressor",
    "Attribute",
    "Condition",
    "Conjunction",
    "CrossValidation",
    "ExactOracle",
    "Halfspace",
    "ID3Classifier",
    "Implication",
    "ImplicationTest",
    "KMeans",
    "LinearRegression",
    "LogisticRegression",
    "NaiveBayes",
    "NoisySums",
    "NotFittedError",
    "Perceptron",
    "RandomForestClassifier",
    "RemoteSums",
    "RowSets",
    "StandardScaler",
    "StatisticalQueryOracle",
    "Term",
    "TruncatedSVD",
    "conjunction_needs",
    "cross_validate",
    "halfspace_needs",
    "implication_strength",
    "implication_test",
    "learn_conjunction",
    "learn_halfspace",
    "oracle_cost",
    "original_variance",
    "serve",
]
