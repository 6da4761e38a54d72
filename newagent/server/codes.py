"""Every error code that the service documents: its HTTP status, its number where it has one, and what it means.

Refusals of the rules of the timetable have codes of their own (docs/backend/tools.md); they answer an edit with 422.
"""

from __future__ import annotations

from dataclasses import dataclass

from newagent.errors import InputError, ModelError, NewAgentError, NotFoundError, RefusedError, StoreError


@dataclass(frozen=True)
class Code:
    """`number` is what `status` of the envelope says; without one it repeats the code."""

    http: int
    meaning: str
    number: str | None = None


CODES: dict[str, Code] = {
    "invalid_body": Code(400, "the body is no JSON, or not the one that the call takes", "40005"),
    "invalid_parameter": Code(400, "a parameter of the address or a form field is missing or malformed"),
    "conversation_id_missing": Code(400, "the call needs a conversation_id", "40004"),
    "idempotency_key_missing": Code(400, "the call needs an Idempotency-Key of 1 to 128 characters", "40037"),
    "empty_message": Code(400, "the message is empty"),
    "message_too_long": Code(400, "the message has more than 8,000 characters"),
    "invalid_title": Code(400, "a title has 1 to 200 characters"),
    "invalid_task_class": Code(400, "the task class cannot be stored; `faults` says why"),
    "unreadable_file": Code(400, "nothing can be read from the file; `reason` has the reader's own code"),
    "bad_host": Code(400, "without a key only requests to this machine's own names are answered"),
    "token_missing": Code(401, "the call needs a bearer token"),
    "token_invalid": Code(401, "the token has a wrong signature, algorithm, audience or shape"),
    "token_expired": Code(401, "the token has expired"),
    "foreign_origin": Code(403, "another origin's page may not call a service that knows no users"),
    "not_found": Code(404, "there is no such address"),
    "conversation_not_found": Code(404, "no such conversation of this user"),
    "interaction_not_found": Code(404, "no such card of this user"),
    "version_not_found": Code(404, "the conversation has no such schedule version"),
    "no_preview": Code(404, "the conversation has no preview yet", "40058"),
    "unknown_task_class": Code(404, "no such task class of this user", "40040"),
    "unknown_course": Code(404, "no such course of this user"),
    "no_semester": Code(404, "there is no semester yet"),
    "method_not_allowed": Code(405, "the address does not take this method"),
    "run_in_progress": Code(409, "the conversation still works on the last message"),
    "interaction_closed": Code(409, "the card has been answered otherwise"),
    "version_conflict": Code(409, "the schedule has moved on from the version that was named"),
    "course_embedded": Code(409, "the course holds another item there already", "40025"),
    "timetable_conflict": Code(409, "the timetable has no room; `conflicts` lists every one", "40026"),
    "item_already_scheduled": Code(409, "the item is in the timetable already", "40034"),
    "idempotency_key_in_progress": Code(409, "a request with this key is being worked on", "40038"),
    "duplicate_task_class": Code(409, "there is a task class of this name already"),
    "item_applied": Code(409, "an item that is in the timetable cannot go"),
    "semester_too_small": Code(409, "what is stored would lie outside of the semester"),
    "not_empty": Code(409, "the sample is for a user who has nothing yet"),
    "interaction_expired": Code(410, "the card was not answered in time"),
    "body_too_large": Code(413, "the body is larger than the call takes"),
    "file_too_large": Code(413, "the file is larger than 5 MiB"),
    "invalid_args": Code(422, "the answer is not one that the card takes, or an edit's arguments are wrong"),
    "unknown_tool": Code(422, "there is no such write for the student's own hand"),
    "idempotency_key_reused": Code(422, "the key was used for another body"),
    "item_not_of_class": Code(422, "the item belongs to another task class", "40048"),
    "outside_semester": Code(422, "a place lies outside of the semester", "40049"),
    "outside_window": Code(422, "a place lies outside of the days of the preview", "40059"),
    "unknown_item": Code(422, "no such task item", "40060"),
    "unknown_host": Code(422, "no such course to embed into at that place", "40061"),
    "duplicate_item": Code(422, "an item is named twice", "40062"),
    "illegal_placement": Code(422, "the rules of the timetable forbid a place; `violations` says which"),
    "rate_limited": Code(429, "too many requests; see Retry-After"),
    "quota_exhausted": Code(429, "the user's tokens of the day are used up; see Retry-After"),
    "service_stopping": Code(503, "the service is stopping; another process goes on"),
}


def http_status(error: NewAgentError) -> int:
    """The HTTP status that fits an error."""
    if error.code in CODES:
        return CODES[error.code].http
    match error:
        case NotFoundError():
            return 404
        case InputError():
            return 400
        case RefusedError():
            return 422
        case StoreError() | ModelError():
            return 503
        case _:
            return 500


def number_of(code: str) -> str:
    """What `status` of the envelope says."""
    known = CODES.get(code)
    return known.number if known is not None and known.number is not None else code
