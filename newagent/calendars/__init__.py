"""Files people have: timetables as CSV, iCalendar and JSON, in and out."""
