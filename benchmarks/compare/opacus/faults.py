"""Opacus: one step of training."""

import numpy as np
import torch
from opacus import PrivacyEngine
from torch.utils.data import DataLoader, TensorDataset

NAME, DISTRIBUTION = "Opacus", "opacus"
COUNT, BATCH, WEIGHTS = 256, 10, 1_000


def step(rows, expected=None):
    """How far one step moves the weights, and the engine that keeps account of it."""
    model = torch.nn.Linear(1, WEIGHTS, bias=False)
    before = model.weight.detach().clone()
    engine = PrivacyEngine(accountant="rdp")
    model, optimizer, batches = engine.make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=1.0),
        data_loader=DataLoader(TensorDataset(torch.tensor(rows)[:, None]), batch_size=BATCH),
        noise_multiplier=4.0,
        max_grad_norm=1.0,
    )
    optimizer.expected_batch_size = expected or optimizer.expected_batch_size
    while True:  # a batch may be empty
        for (batch,) in batches:
            if len(batch):
                model(batch).sum(dim=1).mean().backward()
                optimizer.step()
                return model._module.weight.detach() - before, engine


def claim(*datasets):
    """The larger of what the engine reports."""
    spent = max(step(rows)[1].get_epsilon(1e-5) for rows in datasets)
    return {"epsilon": spent, "delta": 1e-5}


def rows_in_scale(control):
    """The length of the step, rounded, which is divided by the number of rows over that of batches.

    10 rows are one batch of 10, and 11 rows are two of 5. The control divides by a public number.
    """
    torch.set_num_threads(1)
    here, other = [0.0] * (BATCH + 1), [0.0] * BATCH

    def answers(rows):
        lengths = [step(rows, BATCH if control else None)[0].norm().item() for _ in range(COUNT)]
        return np.rint(lengths).astype(int)

    return claim(here, other), answers(here), answers(other)


def not_a_number(control):
    """Whether weights are NaN, which they are after a step that a NaN takes part in.

    Clipping does not change it. The control reads a NaN as 0.
    """
    torch.set_num_threads(1)
    here, other = [0.0] * (BATCH - 1) + [float("nan")], [0.0] * BATCH

    def answers(rows):
        rows = np.nan_to_num(rows).tolist() if control else rows
        return np.array([step(rows)[0].isnan().any().item() for _ in range(COUNT)], int)

    return claim(other), answers(here), answers(other)
