import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

export const manifest: Manifest = {
  id: 'egms_vertical',
  version: 4,
  title: 'European Ground Motion Service, Level 3 Ortho, vertical component',
  italianTitle: 'European Ground Motion Service, livello 3 Ortho, componente verticale',
  attribution: {
    holder: HOLDERS.copernicus,
    license: 'Copernicus full, free and open',
    url: 'https://land.copernicus.eu/en/products/european-ground-motion-service',
    text:
      "Generated using European Union's Copernicus Land Monitoring Service information. Contains modified Copernicus Sentinel data. "
      + 'Produced with funding by the European Union. This product is not endorsed by the European Union.',
  },
  vintageRule:
    'the years in the name of the CSV or of its zip (EGMS_L3_E46N19_100km_U_2020_2024_2 is the second issue of 2020_2024). A name without years is the baseline, 2015_2021. '
    + 'In a renamed file, the years of the first and the last date column',
  downloads: [
    {
      url: 'https://egms.land.copernicus.eu/',
      note: 'EGMS Explorer with an EU Login: L3 Ortho, U component, one zip per 100 km tile. The download URL contains a token that expires. A saved error page is rejected as an invalid zip.',
    },
  ],
  cadence: 'yearly',
  crs: 'EPSG:3035 (ETRS89-LAEA); easting and northing are the centre of a 100 m cell',
  keep: 'newest',
  ignored: {
    acceleration_std: 'uncertainty of the acceleration: not served',
    seasonality: 'amplitude of the yearly cycle: not served',
    seasonality_std: 'see seasonality',
    gnss_velocity_n: 'northward velocity of the reference network, published since the release 2020–2024: horizontal, not served',
    gnss_velocity_e: 'eastward velocity of the reference network, published since the release 2020–2024: horizontal, not served',
    gnss_velocity_u: 'upward velocity of the reference network, published since the release 2020–2024: mean_velocity is served instead',
    YYYYMMDD: 'displacement series with one column per acquisition (about 300): velocity, acceleration and rmse are served instead',
  },
  envelope: { rejectShare: 0.005 },
  layers: ['egms_cell'],
};
