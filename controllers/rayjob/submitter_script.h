// The program of our submitters, for the Python of Ray's images. It has no shell, so no quoting; Kubernetes expands
// "$(NAME)" in commands, so it has no dollar sign.
#pragma once

#include <string_view>

namespace tpuslice::rayjob {

/// Exit status of a submitter whose Ray job failed, was stopped or was lost: submitting again is of no help.
inline constexpr int kJobNotSucceeded = 10;

/// Environment variable with the arguments of submit_job(), as JSON.
inline constexpr std::string_view kSubmissionVariable = "TPUSLICE_RAY_SUBMISSION";

/// Submits the job unless Ray knows it, copies its log, and ends as the job does: 0 for SUCCEEDED only. It asks for the
/// job before each attempt to submit, since a request without an answer may have been carried out. Ends with 1 if the
/// dashboard does not answer for five minutes.
inline constexpr std::string_view kSubmitterScript = R"python(import asyncio, json, os, sys
from time import monotonic, sleep as pause
from ray.job_submission import JobStatus, JobSubmissionClient

ADDRESS = "http://" + os.environ["RAY_DASHBOARD_ADDRESS"]
SUBMISSION = json.loads(os.environ["TPUSLICE_RAY_SUBMISSION"])
JOB = SUBMISSION["submission_id"]
PATIENCE = 300  # seconds
JOB_NOT_SUCCEEDED = 10

printed = 0  # characters of the log

def say(text):
    print("submitter:", text, flush=True)

def status():
    """Of the job; None if Ray does not know it. Asks again while there is no answer."""
    give_up = monotonic() + PATIENCE
    while True:
        try:
            return JobSubmissionClient(ADDRESS).get_job_status(JOB)
        except Exception as error:
            if "status code 404" in str(error):
                return None
            if monotonic() > give_up:
                say(f"no answer from {ADDRESS} for {PATIENCE} s: {error}")
                sys.exit(1)
            pause(2)

def submit():
    for attempt in range(5):
        found = status()
        if found is not None:
            return found
        try:
            JobSubmissionClient(ADDRESS).submit_job(**SUBMISSION)
            say(f"submitted {JOB}")
            return status()
        except Exception as error:
            say(f"submission of {JOB}: {error}")
        pause(1)
    say(f"{JOB} was not accepted")
    sys.exit(1)

async def copy_log():
    global printed
    position = 0  # a new stream begins with the first line
    async for text in JobSubmissionClient(ADDRESS).tail_job_logs(JOB):
        start = max(printed - position, 0)
        position += len(text)
        printed = max(printed, position)
        print(text[start:], end="", flush=True)

say(f"dashboard {ADDRESS}")
found = submit()
while found is not None and (printed == 0 or not found.is_terminal()):
    try:
        asyncio.run(asyncio.wait_for(copy_log(), 600))
    except Exception as error:
        say(f"log stream ended: {error!r}")
    if found.is_terminal():
        break
    pause(1)
    found = status()
say(f"{JOB} is {found.value if found else 'lost: Ray does not know it any more'}")
sys.exit(0 if found == JobStatus.SUCCEEDED else JOB_NOT_SUCCEEDED)
)python";

}  // namespace tpuslice::rayjob
