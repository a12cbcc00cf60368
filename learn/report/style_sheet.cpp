#include "learn/report/style_sheet.hpp"

namespace headrace::report {

const char* const kInk = "var(--ink)";

const char* const kStyleSheet = R"css(
:root { color-scheme:light dark; --ink:#1c2530; --soft:#5d6b7a; --line:#e3e8ee; --paper:#ffffff; --ground:#f4f6f9; --accent:#1f6f9f;
  --good:#14805e; --bad:#b4462f; --good-paper:#e8f6ef; --bad-paper:#fdeeea; --note-paper:#fff7e0; --note-line:#f0d98c; --note:#6b5310; }
@media screen and (prefers-color-scheme: dark) {
:root { --ink:#e4e9ef; --soft:#9aa7b5; --line:#2c3642; --paper:#1a212a; --ground:#11161c; --accent:#6db3dc;
  --good:#5cc79d; --bad:#ee8f76; --good-paper:#14302a; --bad-paper:#3a211b; --note-paper:#332b14; --note-line:#5c4d1e; --note:#e8cf86; } }
* { box-sizing:border-box; }
body { margin:0; background:var(--ground); color:var(--ink); font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif; }
main { max-width:1120px; margin:0 auto; padding:28px 20px 60px; }
header h1 { margin:0; font-size:28px; font-weight:650; letter-spacing:-.01em; overflow-wrap:anywhere; }
header p { margin:4px 0 18px; color:var(--soft); overflow-wrap:anywhere; }
h2 { margin:0 0 12px; font-size:18px; font-weight:620; }
h3 { margin:20px 0 8px; font-size:14px; font-weight:600; color:var(--soft); }
section { background:var(--paper); border:1px solid var(--line); border-radius:12px; padding:20px 22px; margin:0 0 18px; }
section p { margin:0 0 12px; color:var(--soft); max-width:85ch; overflow-wrap:anywhere; }
section ul { margin:0 0 12px; padding-left:20px; max-width:85ch; overflow-wrap:anywhere; }
.notice { background:var(--note-paper); border:1px solid var(--note-line); color:var(--note); border-radius:10px; padding:10px 16px; margin:0 0 18px; }
.verdict { border:1px solid var(--line); border-left-width:6px; border-radius:10px; padding:10px 16px; margin:0 0 18px; background:var(--paper); }
.verdict b { font-size:17px; } .verdict.passed { border-color:var(--good); background:var(--good-paper); } .verdict.missed { border-color:var(--bad); background:var(--bad-paper); }
.tiles { display:grid; grid-template-columns:repeat(auto-fit,minmax(150px,1fr)); gap:12px; margin:0 0 18px; }
.tile { background:var(--paper); border:1px solid var(--line); border-radius:12px; padding:14px 16px; min-width:0; }
.tile b { display:block; font-size:25px; font-weight:640; font-variant-numeric:tabular-nums; letter-spacing:-.01em; }
.tile span { color:var(--soft); font-size:13px; display:block; } .tile small { color:var(--soft); font-size:12px; display:block; font-variant-numeric:tabular-nums; }
.two { display:grid; grid-template-columns:repeat(auto-fit,minmax(min(380px,100%),1fr)); gap:22px; } .two > * { min-width:0; }
.scroll { overflow-x:auto; }
table { border-collapse:collapse; width:100%; font-size:14px; }
th { text-align:left; font-weight:600; color:var(--soft); border-bottom:1px solid var(--line); padding:6px 10px; vertical-align:bottom; } th.n { min-width:70px; }
td { border-bottom:1px solid var(--line); padding:6px 10px; vertical-align:middle; white-space:nowrap; }
tr:last-child td { border-bottom:0; }
td.n, th.n { text-align:right; font-variant-numeric:tabular-nums; } td small { color:var(--soft); } td.n small { display:block; }
table.matrix { width:auto; } table.matrix td { text-align:center; min-width:56px; font-variant-numeric:tabular-nums; border:2px solid var(--paper); }
table.matrix th { text-align:center; } table.matrix td:first-child { text-align:right; color:var(--soft); }
td .cell { margin:-6px -10px; padding:7px 10px; border-radius:6px; }
table.wrapped td { white-space:normal; } table.wrapped .good, table.wrapped .off { white-space:nowrap; } table.identity td:first-child { color:var(--soft); white-space:nowrap; width:1%; vertical-align:top; } table.identity td { overflow-wrap:anywhere; white-space:normal; }
code { font:13px ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace; overflow-wrap:anywhere; }
pre { background:var(--ground); border-radius:8px; padding:14px; overflow:auto; font:12.5px/1.5 ui-monospace,Menlo,"DejaVu Sans Mono",monospace; margin:8px 0 12px; }
pre.commands { white-space:pre-wrap; overflow-wrap:anywhere; }
details { margin:10px 0 0; } summary { cursor:pointer; color:var(--accent); margin:0 0 8px; }
.chip { display:inline-block; width:11px; height:11px; border-radius:3px; margin-right:7px; vertical-align:-1px; }
.bar { display:inline-block; width:150px; height:8px; border-radius:4px; background:var(--ground); overflow:hidden; vertical-align:middle; }
.bar i { display:block; height:100%; border-radius:4px; }
.area { display:flex; width:170px; height:10px; border-radius:5px; overflow:hidden; background:var(--ground); }
.stack { display:flex; height:18px; border-radius:9px; overflow:hidden; background:var(--ground); margin:4px 0 8px; }
.legend { display:flex; flex-wrap:wrap; gap:4px 18px; font-size:13px; color:var(--soft); }
.legend.classes { margin:0 0 16px; } .legend + p { margin-top:12px; } .legend b { color:var(--ink); font-weight:600; font-variant-numeric:tabular-nums; }
.key { overflow-wrap:anywhere; } .key i { display:inline-block; width:11px; height:11px; border-radius:3px; margin-right:6px; vertical-align:-1px; }
figure { margin:0; } figcaption { font-weight:600; font-size:14px; color:var(--soft); margin-bottom:4px; overflow-wrap:anywhere; }
svg { width:100%; height:auto; display:block; } .grid { stroke:var(--line); } .tick { fill:var(--soft); font-size:11px; font-family:inherit; }
.marked { stroke:var(--soft); stroke-dasharray:4 3; }
.montage { display:grid; grid-template-columns:repeat(auto-fit,minmax(min(480px,100%),1fr)); gap:18px; }
.row { display:grid; grid-template-columns:repeat(3,1fr); gap:6px; } .row > * { min-width:0; }
.row img { width:100%; display:block; border-radius:8px; image-rendering:auto; }
.row span { font-size:12px; color:var(--soft); text-align:center; }
.montage figcaption, .examples figcaption { font-weight:400; font-size:12.5px; margin:5px 0 0; }
.examples figure { margin:0 0 20px; } .examples .row { max-width:960px; }
.plane { position:relative; display:block; } .row .plane i { position:absolute; font-style:normal; font-weight:700; font-size:12px; color:#ffd75e; text-shadow:0 0 3px #000; }
.plane .left { left:4px; top:calc(50% - 8px); } .plane .right { right:4px; top:calc(50% - 8px); } .plane .top { left:calc(50% - 4px); top:1px; } .plane .bottom { left:calc(50% - 4px); bottom:1px; }
.good { color:var(--good); } .off { color:var(--bad); }
.mark { display:inline-block; font-size:11px; font-weight:600; color:var(--bad); background:var(--bad-paper); border-radius:5px; padding:0 6px; margin-left:8px; }
.mark.best { color:var(--good); background:var(--good-paper); }
footer { color:var(--soft); font-size:13px; text-align:center; overflow-wrap:anywhere; }
@media (max-width: 600px) { main { padding:16px 10px 40px; } section { padding:16px 12px; } td:not(.n) { white-space:normal; } table.matrix td { white-space:nowrap; } .bar, .area { width:60px; } td, th { padding:5px 7px; } td .cell { margin:-5px -7px; padding:6px 7px; } }
@page { size:A4; margin:14mm 12mm; }
@media print {
* { print-color-adjust:exact; -webkit-print-color-adjust:exact; }
body { background:#fff; font-size:10pt; } main { max-width:none; padding:0; }
section { border:0; border-top:1px solid var(--line); border-radius:0; padding:12px 0 4px; } .tile, figure, .verdict, .notice, tr { break-inside:avoid; }
h2, h3, section > p:not(:last-child), .legend.classes { break-after:avoid; } table.matrix td { min-width:34px; } .examples .row { max-width:135mm; } .examples figure { margin-bottom:10px; } thead { display:table-header-group; } .scroll { overflow:visible; }
table { font-size:8pt; } th, td { white-space:normal; padding:3px 5px; } td .cell { margin:-3px -5px; padding:4px 5px; } td code, code { font-size:8pt; }
.two, .montage { grid-template-columns:repeat(2,1fr); } pre { white-space:pre-wrap; overflow-wrap:anywhere; font-size:8pt; } .bar { width:90px; } .area { width:90px; }
summary { list-style:none; } details:not([open]) { color:var(--soft); } }
)css";

}  // namespace headrace::report
