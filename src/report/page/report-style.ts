import { CHART_STYLE } from "../charts/palette.ts";
import { STYLE } from "../html/style.ts";

/** The stylesheet of the report: the common one, that of its charts, and what it alone has. */
export const REPORT_STYLE = `${STYLE}${CHART_STYLE}
section { margin-top: 2.5rem } section h2 { margin: 0 0 .3rem; font-size: 1.15rem; line-height: 1.35 }
details { margin-top: .5rem } summary { cursor: pointer; color: var(--soft); font-size: .875rem } section table { max-width: 60rem }
.concerns { margin: .4rem 0; padding: 0; list-style: none } .concerns li { padding: .3rem 0; border-bottom: 1px solid var(--line) }
.concerns .nowrap { white-space: normal } .concerns small { display: block; padding-left: 1.1rem }
@media print { section { margin-top: 1.4rem } h2 { break-after: avoid } .chart, .runs { break-inside: avoid } summary { display: none } }
`;
