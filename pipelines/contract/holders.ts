/** Who holds the data of the sources: one spelling each, wherever it is named. */
export const HOLDERS = {
  agenziaDelleEntrate: 'Agenzia delle Entrate',
  copernicus: 'European Environment Agency - Copernicus Land Monitoring Service',
  esa: 'European Space Agency - Copernicus Contributing Missions',
  igm: 'Istituto Geografico Militare (IGM)',
  ingv: 'Istituto Nazionale di Geofisica e Vulcanologia (INGV)',
  ispra: 'ISPRA',
  istat: 'Istat - Istituto Nazionale di Statistica',
  mef: 'Ministero dell\'Economia e delle Finanze - Dipartimento delle Finanze',
  nasa: 'NASA - Level-1 and Atmosphere Archive & Distribution System (LAADS DAAC)',
  operator: 'supplied by the operator of this database',
  provinciaDiBolzano: 'Provincia autonoma di Bolzano - Alto Adige',
  provinciaDiTrento: 'Provincia autonoma di Trento',
  protezioneCivile: 'Presidenza del Consiglio dei Ministri - Dipartimento della Protezione Civile',
  worldBank: 'The World Bank Group - Global Solar Atlas',
} as const;
