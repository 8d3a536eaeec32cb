/** The cadastral map: parcels and the sheets that contain them. */
import type { Layers } from '../../pipelines/contract/source.ts';

/** Columns of the reference that parcels and sheets share. */
const SHEET_REFERENCE = {
  belfiore: ['text not null', 'Cadastral code of the comune in the reference (CCCC)'],
  section: ['text', 'Letter of the sezione censuaria (Z); null if the comune has none'],
  sheet: ['text not null', 'Sheet (foglio, FFFF), four digits with zeros'],
  attachment: ['text not null', 'Attachment (allegato, A): 0 if none, otherwise its digit or letter; Q for a quadro d\'unione'],
  development: ['text not null', 'Development (sviluppo, S): 0 if none, otherwise its digit or letter; U for a quadro d\'unione'],
} as const;

/** Columns with the comuni that differ from the comune of the reference. */
const OTHER_COMUNE = {
  administrative_unit: ['text', 'Comune in ADMINISTRATIVEUNIT; null if it equals the comune of the reference'],
  file_belfiore: ['text', 'Comune in the file name; null if the name states no comune or the comune of the reference'],
} as const;

export const layers: Layers = {
  cadastral_parcel: {
    description: 'Parcels of the Catasto Terreni (Agenzia delle Entrate, cartografia catastale), including the parcels of roads and waters.',
    position: 'Byte offset of the wfs:member in its GML document.',
    columns: {
      ...SHEET_REFERENCE,
      label: ['text not null', 'Label on the map: a number, a letter, STRADAnnn or ACQUAnnn'],
      reference: ['text not null', 'National cadastral reference, CCCCZFFFFAS.label; unique in a release'],
      gml_id: ['text not null', 'Identifier of the feature as published'],
      kind: ['text not null', 'Type of the parcel: road (STRADAnnn), water (ACQUAnnn) or land'],
      made_valid: ['bool not null', 'True if the published polygon was invalid and st_makevalid repaired it'],
      ...OTHER_COMUNE,
      geom: ['geometry(multipolygon, 4326) not null', 'Polygon of the parcel on the map, EPSG:4326 longitude latitude'],
    },
    indexes: { 'the parcels of a GML document': ['member_id'] },
  },
  cadastral_coverage: {
    description: 'Number of parcels of each sheet in each GML document',
    position: 'Byte offset of the first of these parcels in its GML document.',
    columns: {
      belfiore: ['text not null', 'Cadastral code of the comune in the references of the parcels'],
      sheet_reference: ['text not null', 'National cadastral reference of the sheet, CCCCZFFFFAS'],
      ...OTHER_COMUNE,
      parcels: ['int4 not null', 'Number of parcels'],
    },
  },
  cadastral_sheet: {
    description: 'Sheets (fogli di mappa) of the Catasto Terreni, with their attachments and developments',
    position: 'Byte offset of the wfs:member in its GML document.',
    columns: {
      ...SHEET_REFERENCE,
      label: ['text not null', 'Label on the map, such as 13 or 13A'],
      reference: ['text not null', 'National cadastral reference of the sheet, CCCCZFFFFAS; unique in a release'],
      gml_id: ['text not null', 'Identifier of the feature as published'],
      begin_date: ['date', 'First day on which this version is valid; null if not published'],
      end_date: ['date', 'Last day on which this version was valid; null if it is still valid or the day is not published'],
      scale_denominator: ['int4', 'Scale of the original map, 1000 for 1:1000; null if not published'],
      made_valid: ['bool not null', 'True if the published polygon was invalid and st_makevalid repaired it'],
      ...OTHER_COMUNE,
      geom: ['geometry(multipolygon, 4326) not null', 'Outline of the sheet on the map, EPSG:4326 longitude latitude; neighbouring sheets do not always meet'],
    },
  },
};
