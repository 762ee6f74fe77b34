"""What a program does after each round of measurements."""
import os

from .builder import FOLDER


class MeasureCallback:
    """Is called with each round of results."""

    def apply(self, task_scheduler, task_id, measure_candidates, builder_results, runner_results):
        """Looks at a round: lists of candidates, of BuilderResult and of RunnerResult."""
        raise NotImplementedError

    @staticmethod
    def create(kind="default"):
        """The callbacks of a kind, "default": databases are written without one. A list."""
        if kind != "default":
            raise ValueError(f"Unknown MeasureCallback: {kind}")
        return [AddToDatabase(), RemoveBuildArtifact(), UpdateCostModel()]


class PyMeasureCallback(MeasureCallback):
    """A callback of a program."""


class AddToDatabase(MeasureCallback):
    """The search itself writes the database."""

    def apply(self, task_scheduler, task_id, measure_candidates, builder_results, runner_results):
        pass


class RemoveBuildArtifact(MeasureCallback):
    """Removes the files of a builder."""

    def apply(self, task_scheduler, task_id, measure_candidates, builder_results, runner_results):
        for result in builder_results:
            if result.artifact_path and os.path.exists(result.artifact_path):
                os.remove(result.artifact_path)
                folder = os.path.dirname(result.artifact_path)
                if os.path.basename(folder).startswith(FOLDER) and not os.listdir(folder):
                    os.rmdir(folder)


class UpdateCostModel(MeasureCallback):
    """The search has no cost model."""

    def apply(self, task_scheduler, task_id, measure_candidates, builder_results, runner_results):
        pass
