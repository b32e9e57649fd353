"""Open a journal that pawl exported with the real Optuna and its dashboard.

usage: open_journal.py JOURNAL STUDY TRIALS
"""
import json
import sys
from wsgiref.util import setup_testing_defaults

import optuna
import optuna_dashboard
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

journal, name, trials = sys.argv[1], sys.argv[2], int(sys.argv[3])
storage = JournalStorage(JournalFileBackend(journal))
study = optuna.load_study(study_name=name, storage=storage)
assert len(study.trials) == trials, len(study.trials)
complete = [t for t in study.trials if t.state == optuna.trial.TrialState.COMPLETE]
assert study.best_value == min(t.value for t in complete)
importance = optuna.importance.get_param_importances(study)
assert set(importance) == set(study.best_params), importance

dashboard = optuna_dashboard.wsgi(storage)


def get(path):
    environ = {"PATH_INFO": path, "REQUEST_METHOD": "GET"}
    setup_testing_defaults(environ)
    answer = {}
    body = b"".join(dashboard(environ, lambda status, headers, *rest: answer.update(status=status)))
    assert answer["status"].startswith("200"), (path, answer, body[:200])
    return json.loads(body)


listed = get("/api/studies")["study_summaries"]
assert [s["study_name"] for s in listed] == [name], listed
shown = get(f"/api/studies/{listed[0]['study_id']}")
assert len(shown["trials"]) == trials, len(shown["trials"])
shares = get(f"/api/studies/{listed[0]['study_id']}/param_importances")["param_importances"]
assert {p["name"] for p in shares[0]} == set(importance), shares
print(f"Optuna {optuna.__version__} and its dashboard {optuna_dashboard.__version__} read {trials} trials; best {study.best_value:.4g} ms")
