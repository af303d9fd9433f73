/** Groups of German words and phrases that stand for each other, one a line, as `Synonyms.ts` reads them. */
export const german = `
Urlaub, Ferien, freie Tage
krank, Krankheit, Krankmeldung
Gehalt, Lohn, Vergütung
Chef, Vorgesetzter, Vorgesetzte, Führungskraft
kündigen, Kündigung
Computer, Rechner, PC, Laptop
Foto, Bild, Abbildung, Grafik
Ordner, Verzeichnis
anmelden, einloggen, Anmeldung, Login
abmelden, ausloggen, Abmeldung
Passwort, Kennwort
Seite, Webseite, Website
Benutzer, Nutzer, Anwender
Konto, Account, Benutzerkonto
erstellen, anlegen, hinzufügen, erzeugen
ändern, bearbeiten, anpassen
einstellen, konfigurieren, festlegen, einrichten
anzeigen, darstellen
verstecken, ausblenden, verbergen
kopieren, duplizieren
speichern, sichern
hochladen, Upload
herunterladen, Download
veröffentlichen, publizieren, freigeben
Fassung, Version
Kosten, Preis, Gebühr
Fehler, Störung
Voreinstellung, Standard, Standardwert, Vorgabe
maximal, höchstens, Obergrenze
mindestens, Mindestlänge, Untergrenze
Favorit, Favoriten, Lesezeichen
Bedeutung, bedeutet, heißt
abschalten, deaktivieren, ausschalten
einschalten, aktivieren
löschen, entfernen
beginnen, anfangen, starten
bezahlen, zahlen, vergüten
kaufen, erwerben
Mitarbeiter, Beschäftigte, Angestellte, Arbeitnehmer
Belegschaft, Personal, Mitarbeiter
Kollege, Mitarbeiter
Vorgesetzter, Teamleiter, Führungskraft
Firma, Unternehmen, Betrieb
Arbeitgeber, Unternehmen
Job, Stelle, Arbeitsplatz
Stelle, Position
Stellenanzeige, Ausschreibung, Stellenausschreibung
Vorstellungsgespräch, Bewerbungsgespräch
Lebenslauf, CV
Arbeitsvertrag, Anstellungsvertrag
erster Tag, Eintritt, Arbeitsbeginn
Einarbeitung, Onboarding
Azubi, Auszubildende, Lehrling
Praktikum, Praktikant
Urlaubstage, Urlaubsanspruch, Jahresurlaub
Urlaub nehmen, Urlaubsantrag, Urlaub beantragen
freinehmen, Urlaub, Freistellung
unbezahlter Urlaub, Freistellung
Sonderurlaub, Freistellung
Feiertag, gesetzlicher Feiertag
Elternzeit, Erziehungsurlaub
schwanger, Schwangerschaft, Mutterschutz
Baby, Säugling, Neugeborenes
Geburt, Entbindung
Hochzeit, Eheschließung, Heirat
Todesfall, Trauerfall, Sterbefall
Beerdigung, Bestattung
krankmelden, Arbeitsunfähigkeit
Krankenschein, Arbeitsunfähigkeitsbescheinigung, Attest
Attest, ärztliche Bescheinigung
krankgeschrieben, arbeitsunfähig
Arzt, Mediziner
Arztbesuch, Arzttermin
Arbeitsunfall, Betriebsunfall
Arbeitszeit, Dienstzeit
Überstunden, Mehrarbeit
Überstunden abbauen, Freizeitausgleich
Gleitzeit, flexible Arbeitszeit
Kernzeit, Kernarbeitszeit
Teilzeit, reduzierte Arbeitszeit
Homeoffice, mobiles Arbeiten, Telearbeit
zu Hause, Homeoffice
Dienstplan, Schichtplan
Mittagspause, Pause
Zeiterfassung, Stundenzettel
zu spät, verspätet, Verspätung
Gehaltserhöhung, Lohnerhöhung
Gehaltsabrechnung, Lohnabrechnung, Lohnzettel
Verdienst, Einkommen
verdienen, Einkommen
Bonus, Prämie
Weihnachtsgeld, Sonderzahlung
Zuschuss, Zulage
Zuschuss, Beihilfe, Förderung
Rente, Altersvorsorge, Pension
Betriebsrente, betriebliche Altersversorgung
Dienstreise, Geschäftsreise
Reisekosten, Spesen, Auslagen
Spesen, Verpflegungsmehraufwand, Tagegeld
Auslagen, Kosten
erstatten, zurückzahlen, zurückerstatten
Erstattung, Rückerstattung
Kilometergeld, Kilometerpauschale
Dienstwagen, Firmenwagen
Mietwagen, Leihwagen
Fahrkarte, Ticket, Fahrschein
Zug, Bahn
Bahnkarte, Bahnticket
Flug, Flugreise
fliegen, Flug
Hotel, Übernachtung, Unterkunft
Handy, Mobiltelefon, Smartphone
Diensthandy, Firmenhandy
Telefon, Fernsprecher
anrufen, telefonieren
Telefonnummer, Rufnummer
feuern, entlassen, kündigen
rauswerfen, kündigen, entlassen
Kündigungsfrist, Frist
Abfindung, Entschädigung
Abmahnung, Verwarnung
Arbeitszeugnis, Zeugnis
Nebenjob, Nebentätigkeit, Nebenbeschäftigung
Weiterbildung, Fortbildung, Schulung
Kurs, Lehrgang, Schulung
Feedbackgespräch, Mitarbeitergespräch
Beförderung, Aufstieg
Betriebsrat, Arbeitnehmervertretung
Beschwerde, Reklamation
beschweren, Beschwerde
Mobbing, Schikane
Belästigung, Übergriff
Datenschutz, Privatsphäre
geheim, vertraulich
Geheimhaltung, Vertraulichkeit, Verschwiegenheit
Geschenk, Zuwendung
Bestechung, Korruption
Besprechung, Meeting, Sitzung
Termin, Verabredung
Besprechungsraum, Konferenzraum
verschieben, verlegen, aufschieben
absagen, stornieren
abbrechen, stoppen, beenden
beenden, schließen
aufhören, beenden
weitermachen, fortsetzen, fortfahren
Büro, Arbeitsplatz
Ausweis, Zugangskarte
Personalausweis, Ausweis, Identitätsnachweis
Besucher, Gast
Parkplatz, Stellplatz
Fahrrad, Rad
Auto, Fahrzeug, Wagen, PKW
LKW, Lastwagen
Kantine, Mensa
Essen, Verpflegung, Mahlzeit
trinken, Getränk
rauchen, Zigarette
Toilette, WC, Sanitäranlagen
Aufzug, Fahrstuhl, Lift
Stockwerk, Etage, Geschoss
Müll, Abfall
wegwerfen, entsorgen
Entsorgung, Müll
putzen, reinigen, säubern
sauber machen, reinigen
Reinigung, Pflege
Notfall, Notruf
Feuer, Brand
Feuerlöscher, Löschgerät
Fluchtweg, Rettungsweg, Notausgang
Sammelplatz, Sammelstelle
verletzt, Verletzung
Unfall, Unglück
Schaden, Beschädigung
kaputt, defekt, beschädigt
funktioniert nicht, defekt, Störung
geht nicht, Störung, funktioniert nicht
Problem, Störung, Fehler
Problembehebung, Fehlerbehebung, Störungsbeseitigung
reparieren, instandsetzen, beheben
Reparatur, Instandsetzung
Wartung, Instandhaltung
beheben, lösen
austauschen, ersetzen, wechseln
tauschen, wechseln
Ersatzteil, Austauschteil
Zubehör, Zubehörteil
umtauschen, Rückgabe
zurückgeben, Rückgabe
zurückschicken, Rücksendung, Retoure
Garantie, Gewährleistung
Rechnung, Faktura
Quittung, Beleg, Kassenbon
Lastschrift, Bankeinzug
Ratenzahlung, Raten
Mahnung, Zahlungserinnerung
Schulden, Verbindlichkeiten
Kredit, Darlehen
Zinsen, Zinssatz
Bankkonto, Girokonto, Konto
Geldautomat, Bankautomat
Geld abheben, Auszahlung
EC Karte, Girokarte
Steuererklärung, Einkommensteuererklärung
Mehrwertsteuer, Umsatzsteuer, MwSt
absetzen, abziehbar, abzugsfähig
Versicherung, Police
versichert, Versicherungsschutz
Selbstbeteiligung, Selbstbehalt
Krankenkasse, Krankenversicherung
Vertrag, Vereinbarung
AGB, Geschäftsbedingungen
Vertragslaufzeit, Mindestlaufzeit
Widerrufsrecht, Rücktrittsrecht
Bestellung, Auftrag
Lieferung, Versand, Zustellung
Versandkosten, Lieferkosten
Lieferzeit, Lieferfrist
billig, günstig, preiswert
teuer, kostspielig
kostenlos, gratis, unentgeltlich
umsonst, kostenlos
Rabatt, Nachlass, Ermäßigung
Gutschein, Voucher
Angebot, Kostenvoranschlag
Tarif, Preis
Strafe, Bußgeld, Sanktion
Deadline, Frist, Abgabetermin
Miete, Mietzins
Vermieter, Hauseigentümer
Wohnung, Unterkunft
umziehen, Umzug
Adresse, Anschrift
Wohnsitz, Wohnort
Behörde, Amt
Antrag, Formular
beantragen, Antrag stellen
Formular, Vordruck
ausfüllen, eintragen
unterschreiben, unterzeichnen
Unterschrift, Signatur
einreichen, abgeben, vorlegen
Einspruch, Widerspruch
Genehmigung, Erlaubnis, Zustimmung
genehmigen, bewilligen
verboten, untersagt, unzulässig
erlauben, gestatten, zulassen
verbieten, untersagen
müssen, erforderlich, verpflichtet
nötig, notwendig, erforderlich
brauchen, benötigen
Pflicht, verpflichtend, vorgeschrieben
freiwillig, optional
Regel, Vorschrift, Richtlinie
Gesetz, Vorschrift
Anleitung, Anweisung
Bedienungsanleitung, Gebrauchsanweisung, Handbuch
Führerschein, Fahrerlaubnis
Schule, Lehranstalt
Student, Studierende
Lehrer, Lehrkraft
Uni, Universität, Hochschule
Prüfung, Klausur, Examen
durchfallen, nicht bestehen
Note, Bewertung
Abschlussarbeit, Bachelorarbeit, Masterarbeit
einschreiben, immatrikulieren, Immatrikulation
Stundenplan, Vorlesungsplan
Medikament, Arznei, Arzneimittel
Nebenwirkung, unerwünschte Wirkung
Schmerzen, Beschwerden
Krankenhaus, Klinik
Bildschirm, Monitor, Display
Tastatur, Keyboard
Drucker, Druckgerät
drucken, ausdrucken
Papierstau, Stau
Akku, Batterie
aufladen, laden
Ladegerät, Netzteil
Strom, Energie
Stromausfall, Netzausfall
Steckdose, Netzanschluss
Stecker ziehen, vom Netz trennen
Kabel, Leitung
Fernseher, TV
Fernbedienung, Bedienteil
Kühlschrank, Kühlgerät
Waschmaschine, Waschautomat
Spülmaschine, Geschirrspüler
Herd, Kochfeld
Heizung, Heizkörper
Lampe, Leuchte
leuchten, blinken
piepen, Signalton
Lärm, Geräusch
laut, Geräusch
undicht, Leckage
App, Anwendung
Programm, Anwendung, Software
Datei, Dokument
Anhang, Anlage
Papierkorb, gelöscht
wiederherstellen, zurückholen
rückgängig machen, widerrufen
verschicken, senden, versenden
Mail, Nachricht
Postfach, Posteingang
Benachrichtigung, Hinweis, Mitteilung
stumm, lautlos
teilen, freigeben
suchen, finden
Einstellung, Option
Taste, Knopf, Schaltfläche
klicken, anklicken
auswählen, wählen, markieren
Schrift, Schriftart
aktualisieren, updaten
installieren, Installation
deinstallieren, entfernen
zurücksetzen, Werkseinstellungen, Reset
neu starten, Neustart
hochfahren, starten, booten
herunterfahren, ausschalten
hängt, reagiert nicht
langsam, träge
verbinden, anschließen
Verbindung, Anschluss
trennen, unterbrechen
WLAN, Drahtlosnetzwerk, WiFi
Internet, Netz
Link, Verknüpfung
Sicherheitskopie, Datensicherung, Backup
sperren, blockieren
gesperrt, blockiert
Zugang, Zugriff
Berechtigung, Zugriffsrecht, Rechte
Anmeldedaten, Zugangsdaten
Abo, Abonnement
kündigen, abbestellen
verloren, Verlust, verlieren
gestohlen, Diebstahl, geklaut
melden, mitteilen, informieren
Bescheid sagen, informieren, mitteilen
fragen, nachfragen
Antwort, Rückmeldung
Ansprechpartner, Kontaktperson
zuständig, verantwortlich
kümmern, zuständig
helfen, unterstützen
Hilfe, Unterstützung
herausfinden, ermitteln, feststellen
überprüfen, prüfen, kontrollieren
nachschauen, prüfen
zusammenbauen, montieren
Montage, Aufbau
auseinanderbauen, demontieren
abmachen, entfernen, abnehmen
loswerden, entfernen, entsorgen
festmachen, befestigen
anmachen, einschalten
ausmachen, ausschalten
benutzen, verwenden, nutzen
mitbringen, mitführen
mitnehmen, mitführen
kriegen, erhalten, bekommen
behalten, aufbewahren
aufheben, aufbewahren
dauern, Dauer
wie lange, Dauer
wie oft, Häufigkeit
wie viel, Höhe, Anzahl
wie teuer, Kosten
täglich, jeden Tag, pro Tag
wöchentlich, jede Woche, pro Woche
monatlich, jeden Monat, pro Monat
jährlich, jedes Jahr, pro Jahr
zweimal, zwei Mal
sofort, unverzüglich, umgehend
schnell, zügig
vorher, im Voraus, zuvor
manchmal, gelegentlich
immer, stets
meistens, in der Regel
normalerweise, in der Regel, üblicherweise
ungefähr, circa, etwa
genug, ausreichend
zu viel, übermäßig
wichtig, wesentlich
gefährlich, Gefahr
schwierig, schwer
einfach, leicht
Chance, Möglichkeit
Grund, Ursache
Unterschied, unterscheiden
Vorteil, Nutzen
Nachteil, Einschränkung
Voraussetzung, Bedingung, Anforderung
Ziel, Zweck
Höhe, Betrag
Größe, Abmessungen
Gewicht, Masse
Geburtstag, Geburtsdatum
Nachname, Familienname
Ehepartner, Ehegatte
Ehemann, Ehegatte
Kita, Kindergarten, Kinderbetreuung
umwandeln, konvertieren
Eltern, Erziehungsberechtigte
minderjährig, unter 18
volljährig, 18 Jahre
dürfen, darf, erlaubt, zulässig, gestattet
können, kann, möglich
Frist, Stichtag
Resturlaub, verbleibende Urlaubstage
abgestürzt, Absturz, eingefroren
`
