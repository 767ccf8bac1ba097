/** The parts of names, with the commas, accents and quotes of real ones. */
export const THEMES = parseList(`
  Fire Risk; Protected Areas Multispecies Connectivity; Snow Cover; Caribou Habitat; Forest Carbon; Landscape Change;
  Invasive Plants; Wetland Water Balance; Timber Supply; Streamflow & Drought; Urban Growth; Permafrost Thaw
`);
export const PLACES = parseList(`
  Revelstoke, British Columbia; Montérégie; Sierra Nevada, California; Côte-Nord, Québec; Białowieża; Åre, Jämtland;
  Doñana, Andalucía; Kluane, Yukon; Hokkaidō; Saguenay–Lac-Saint-Jean; Whanganui; Mono Lake, California
`);
export const COURSES = parseList("helloworld; landscape; ecology; fire; water; forest; spatial; habitat; carbon");
export const FIRST_NAMES = parseList(`
  alice; amara; bruno; chen; clara; dario; elena; farid; freja; grace; hugo; ines; jonas; kenji; leila; maya; nadia;
  noor; oscar; priya; quentin; rosa; sami; tess; ursula; yuki
`);
export const LAST_NAMES = parseList(`
  abara; bergeron; castro; dubois; eriksen; fontaine; garcia; haddad; ito; jensen; kaur; lindqvist; moreau; nakamura;
  okafor; petit; rossi; silva; tremblay; weber; young; zhang
`);
export const SCENARIOS = parseList(`
  My first scenario; Business as usual; Expected future sales - past trends continue; No action; Baseline;
  High severity fire; Climate RCP 4.5; Climate RCP 8.5; Reduced harvest (-20%); Historic fire regime;
  Restoration + prescribed burn; Protected areas 30x30; Drought "worst case"; Test; Réserve étendue
`);
export const FINAL_NAMES = parseList("Final run; Final run 2; For the report; DO NOT DELETE; Figure 3; Calibrated");

/** The sentences of descriptions. */
export const SENTENCES = [
  "State-and-transition model of forest succession under changing fire regimes.",
  "Run with 40 Monte Carlo iterations, so expect about two hours.",
  "Préparé pour l'atelier de Montréal; les unités sont des hectares.",
  "Do not edit: figures 2 and 4 of the manuscript depend on this version.",
  "Snow water equivalent was calibrated against 12 stations, 1981–2010.",
  "Habitat is suitable where canopy > 60 % & slope < 30°.",
];

/** Names of packages and their versions, oldest first. */
export const PACKAGES = [
  ["landscape", ["3.3.9", "3.3.12", "4.0.1", "4.3.6"]],
  ["firespread", ["1.0.4", "1.2.0", "2.0.0"]],
  ["hydrology", ["0.9.14", "1.1.2"]],
  ["connectivity", ["2.1.7", "2.1.10", "2.2.0"]],
  ["demography", ["1.0.0"]],
] as const;

/** The items of a text that separates them by semicolons. */
function parseList(text: string): readonly string[] {
  return text.split(";").map((item) => item.trim());
}
