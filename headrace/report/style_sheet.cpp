#include "headrace/report/style_sheet.hpp"

namespace headrace::report {

const char* const kStyleSheet = R"css(
:root { --ink:#1c2530; --soft:#5d6b7a; --line:#e3e8ee; --paper:#ffffff; --ground:#f4f6f9; --accent:#1f6f9f; }
* { box-sizing:border-box; }
body { margin:0; background:var(--ground); color:var(--ink); font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif; }
main { max-width:1120px; margin:0 auto; padding:28px 20px 60px; }
header h1 { margin:0; font-size:28px; font-weight:650; letter-spacing:-.01em; }
header p { margin:4px 0 18px; color:var(--soft); }
h2 { margin:0 0 12px; font-size:18px; font-weight:620; }
h3 { margin:20px 0 8px; font-size:14px; font-weight:600; color:var(--soft); }
section { background:var(--paper); border:1px solid var(--line); border-radius:12px; padding:20px 22px; margin:0 0 18px; }
section > p { margin:0 0 12px; color:var(--soft); max-width:80ch; }
.notice { background:#fff7e0; border:1px solid #f0d98c; color:#6b5310; border-radius:10px; padding:10px 16px; margin:0 0 18px; }
.tiles { display:grid; grid-template-columns:repeat(auto-fit,minmax(150px,1fr)); gap:12px; margin:0 0 18px; }
.tile { background:var(--paper); border:1px solid var(--line); border-radius:12px; padding:14px 16px; }
.tile b { display:block; font-size:25px; font-weight:640; font-variant-numeric:tabular-nums; letter-spacing:-.01em; }
.tile span { color:var(--soft); font-size:13px; }
.two { display:grid; grid-template-columns:repeat(auto-fit,minmax(380px,1fr)); gap:22px; }
.scroll { overflow-x:auto; }
table { border-collapse:collapse; width:100%; font-size:14px; }
th { text-align:left; font-weight:600; color:var(--soft); border-bottom:1px solid var(--line); padding:6px 10px; white-space:nowrap; }
td { border-bottom:1px solid var(--line); padding:6px 10px; vertical-align:middle; white-space:nowrap; }
tr:last-child td { border-bottom:0; }
td.n, th.n { text-align:right; font-variant-numeric:tabular-nums; }
table.matrix { width:auto; } table.matrix td { text-align:center; min-width:64px; font-variant-numeric:tabular-nums; border:2px solid var(--paper); border-radius:6px; }
table.matrix th { text-align:center; } table.matrix td:first-child { text-align:right; color:var(--soft); }
table.identity td:first-child { color:var(--soft); white-space:nowrap; width:1%; } table.identity td { word-break:break-all; white-space:normal; }
code { font:13px ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace; }
pre { background:var(--ground); border-radius:8px; padding:14px; overflow:auto; font:12.5px/1.5 ui-monospace,Menlo,"DejaVu Sans Mono",monospace; }
summary { cursor:pointer; color:var(--accent); }
.chip { display:inline-block; width:11px; height:11px; border-radius:3px; margin-right:7px; vertical-align:-1px; }
.bar { display:inline-block; width:150px; height:8px; border-radius:4px; background:var(--ground); overflow:hidden; vertical-align:middle; }
.bar i { display:block; height:100%; border-radius:4px; }
.area { display:flex; width:170px; height:10px; border-radius:5px; overflow:hidden; background:var(--ground); }
.stack { display:flex; height:18px; border-radius:9px; overflow:hidden; background:var(--ground); margin:4px 0 8px; }
.legend { display:flex; flex-wrap:wrap; gap:4px 18px; font-size:13px; color:var(--soft); }
.legend b { color:var(--ink); font-weight:600; font-variant-numeric:tabular-nums; }
.key i { display:inline-block; width:11px; height:11px; border-radius:3px; margin-right:6px; vertical-align:-1px; }
figure { margin:0; } figcaption { font-weight:600; font-size:14px; color:var(--soft); margin-bottom:4px; }
svg { width:100%; height:auto; display:block; } .grid { stroke:var(--line); } .tick { fill:var(--soft); font-size:11px; font-family:inherit; }
.montage { display:grid; grid-template-columns:repeat(auto-fit,minmax(480px,1fr)); gap:18px; }
.montage .row { display:grid; grid-template-columns:repeat(3,1fr); gap:6px; }
.montage img { width:100%; display:block; border-radius:8px; image-rendering:auto; }
.montage figcaption { font-weight:400; font-size:12.5px; margin:5px 0 0; }
.montage .row span { font-size:12px; color:var(--soft); text-align:center; }
.plane { position:relative; display:block; } .plane i { position:absolute; font-style:normal; font-weight:700; font-size:12px; color:#ffd75e; text-shadow:0 0 3px #000; }
.plane .left { left:4px; top:calc(50% - 8px); } .plane .right { right:4px; top:calc(50% - 8px); } .plane .top { left:calc(50% - 4px); top:1px; } .plane .bottom { left:calc(50% - 4px); bottom:1px; }
.good { color:#14805e; } .off { color:#b4462f; }
footer { color:var(--soft); font-size:13px; text-align:center; }
@media print { body { background:#fff; } section, .tile { break-inside:avoid; } }
)css";

}  // namespace headrace::report
