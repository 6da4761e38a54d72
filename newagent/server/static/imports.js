/** Importing a timetable: a file dropped on the page or chosen, its report line by line; the sample term. */

import { call } from "./api.js";
import { attempt, openDialog } from "./dialog.js";
import { button, fill, h } from "./dom.js";
import { t } from "./texts.js";

/** Lets files be dropped anywhere on the page. */
export function acceptDrops(take) {
  const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  const leave = () => document.body.classList.remove("dropping");
  document.addEventListener("dragleave", (event) => event.relatedTarget === null && leave());
  document.addEventListener("drop", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    leave();
    const [file] = event.dataTransfer.files;
    if (file) take(file);
  });
}

/** The dialog of imports; `file` comes from a drop, else it is chosen here. `done()` follows a stored import. */
export function openImport({ file = null, semester, done }) {
  return openDialog(t("import"), (body, close) => {
    const input = h("input", { type: "file", accept: ".csv,.ics,.json,text/csv,text/calendar,application/json", ariaLabel: t("file") });
    const start = h("input", { type: "date", value: semester?.start_date ?? "", required: true });
    const weeks = h("input", { type: "number", min: 1, max: 30, value: semester?.weeks ?? 18, required: true });
    const report = h("div", { className: "report" });
    const chosen = () => input.files[0] ?? file;
    const run = async () => {
      if (!chosen()) return fill(report, t("choose_file"));
      const form = new FormData();
      form.append("file", chosen());
      form.append("semester_start", start.value);
      form.append("weeks", weeks.value);
      await attempt(body, async () => {
        const told = await call("POST", "/schedule/import", { form });
        fill(report, ...reportOf(told));
        done();
      });
    };
    const submit = (event) => (event.preventDefault(), run());
    body.append(
      h(
        "form",
        { className: "fields", onsubmit: submit },
        h("label", {}, h("span", {}, t("file")), file ? h("output", {}, file.name) : input),
        h("label", {}, h("span", {}, t("semester_start")), start),
        h("label", {}, h("span", {}, t("semester_weeks")), weeks),
        h("button", { type: "submit", className: "primary" }, t("import_now")),
      ),
      report,
    );
    if (!semester) body.append(sample(body, () => (close(), done())));
  });
}

function sample(body, done) {
  const take = () => attempt(body, () => call("POST", "/schedule/sample")).then((taken) => taken && done());
  return h("p", { className: "sample" }, t("sample_words"), " ", button(t("sample"), take));
}

function reportOf({ report = [], courses = [], overlaps = [] }) {
  const refused = report.filter((line) => !line.taken);
  const shown = report.filter((line) => !line.taken || line.reason);
  const lines = shown.map((line) =>
    h("li", { className: line.taken ? "" : "refused" }, t(line.taken ? "line_taken" : "line_refused", { ...line, course: line.course ?? "" })),
  );
  return [
    h("p", {}, t("imported", { courses: courses.length, refused: refused.length })),
    h("ul", { className: "changes" }, ...lines),
    overlaps.length ? h("p", {}, t("overlaps", { count: overlaps.length })) : null,
    h(
      "ul",
      { className: "changes" },
      ...overlaps.map((one) => h("li", {}, t("overlap", { ...one, courses: one.courses.join(" / ") }))),
    ),
  ];
}
