/** Style sheet of the report pages, for light and dark screens, phones and paper. */
export const STYLE = `
:root{color-scheme:light dark;--paper:#fff;--ink:#1b1b1b;--soft:#555;--line:#c8c8c8;--bad:#a30000;--badpaper:#ffecec;--good:#00558c}
@media (prefers-color-scheme:dark){:root{--paper:#15181c;--ink:#ececec;--soft:#b0b0b0;--line:#454b52;--bad:#ff9a9a;--badpaper:#3a1d1d;--good:#7cc4f5}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:70rem;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.6rem;line-height:1.2}h2{font-size:1.25rem;margin-top:2.2rem;border-bottom:2px solid var(--line)}h3{font-size:1rem;margin-bottom:.3rem}
nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1rem;list-style:none;padding:0}
a{color:var(--good)}
.scroll{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;font-size:.85rem;width:100%}
caption{text-align:left;font-weight:600;padding:.3rem 0}
th,td{border-bottom:1px solid var(--line);padding:.2rem .5rem;text-align:left;vertical-align:top;overflow-wrap:normal}
td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
code{font-size:.8rem}
.bad{color:var(--bad);background:var(--badpaper);font-weight:600}
.soft{color:var(--soft)}
.strip{width:9rem;height:1.6rem}.strip line,.strip rect{stroke:var(--ink);fill:none;stroke-width:1}.strip .was{stroke-dasharray:2 2;opacity:.75}.strip .mid{stroke-width:2.4}
details{margin:.3rem 0}summary{cursor:pointer}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem}dt{color:var(--soft)}dd{margin:0}
@media (max-width:34rem){dl{grid-template-columns:1fr}dd{margin-bottom:.4rem}}
@media print{:root{--paper:#fff;--ink:#000;--soft:#333;--line:#999;--bad:#a30000;--badpaper:#fff;--good:#000;color-scheme:light}
body{max-width:none;font-size:10pt;print-color-adjust:exact;-webkit-print-color-adjust:exact}nav,summary{display:none}.scroll{overflow:visible}tr,figure{break-inside:avoid}h2,h3{break-after:avoid}table{font-size:7.5pt}th,td,td.n{padding:.1rem .25rem;overflow-wrap:anywhere;white-space:normal}thead{display:table-header-group}
details::details-content{content-visibility:visible;block-size:auto}}
`;
