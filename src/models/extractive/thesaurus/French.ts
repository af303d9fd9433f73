/** Groups of French words and phrases that stand for each other, one a line, as `Synonyms.ts` reads them. */
export const french = `
supprimer, effacer, enlever
créer, ajouter
modifier, changer
dossier, répertoire
courriel, mail, email
prévenir, avertir, annoncer, informer
afficher, montrer
désactiver, éteindre
bug, erreur, anomalie
réglage, paramètre, configuration, option
patron, chef, supérieur
chef, responsable, manager
supérieur hiérarchique, manager, responsable
collègue, collaborateur
entreprise, société
employeur, entreprise
boulot, emploi, travail
emploi, poste
embaucher, recruter
candidature, postuler
entretien, entrevue
stagiaire, stage
apprenti, alternance, apprentissage
vacances, congés, congés payés
congé, absence
jour de congé, congé payé
demander congé, demande de congé
jour férié, fête légale
congé maternité, maternité
congé paternité, paternité
enceinte, grossesse, maternité
mariage, marier, noces
décès, deuil
enterrement, obsèques
malade, maladie, souffrant
arrêt maladie, arrêt de travail, congé maladie
certificat médical, avis d arrêt
médecin, docteur
accident du travail, accident professionnel
salaire, rémunération, paie
fiche de paie, bulletin de salaire, bulletin de paie
augmentation, revalorisation
prime, bonus
heures supplémentaires, heures sup
horaires, temps de travail
temps partiel, mi temps
télétravail, travail à distance
pause déjeuner, pause repas
retard, en retard, tardif
licencier, renvoyer, congédier
viré, licencié
licenciement, renvoi
démissionner, quitter
indemnité, compensation
retraite, pension
mutuelle, complémentaire santé
sécurité sociale, assurance maladie
voyage d affaires, déplacement professionnel
déplacement, voyage
note de frais, frais professionnels
frais, dépenses
justificatif, preuve
reçu, justificatif, ticket de caisse
voiture, véhicule, automobile
voiture de fonction, véhicule de service
vélo, bicyclette
billet, ticket
avion, vol
train, ferroviaire
hôtel, hébergement
logement, hébergement
formation, cours
réunion, rendez vous
salle de réunion, salle de conférence
reporter, repousser, décaler
annuler, résilier
résilier, mettre fin
plainte, réclamation
se plaindre, réclamation
harcèlement, intimidation
syndicat, représentants du personnel
bureau, poste de travail
badge, carte d accès
visiteur, invité
cantine, restaurant d entreprise
repas, restauration
toilettes, sanitaires
ascenseur, élévateur
poubelle, déchets, ordures
jeter, mettre au rebut, éliminer
incendie, feu
sortie de secours, issue de secours
urgence, secours
blessé, blessure
panne, dysfonctionnement, défaillance
ne marche pas, panne, dysfonctionnement
ne fonctionne pas, panne
cassé, endommagé, défectueux
abîmé, endommagé
réparer, dépanner
dépannage, résolution des problèmes
problème, incident, anomalie
entretien, maintenance
remplacer, changer, substituer
pièce de rechange, pièce détachée
garantie, couverture
renvoyer, retourner, retour
payer, régler, paiement
virement, transfert
prélèvement, débit automatique
carte bancaire, carte de crédit, carte bleue
compte bancaire, compte courant
distributeur, guichet automatique
retirer argent, retrait
prêt, crédit, emprunt
dette, somme due
impôt, taxe
déclaration de revenus, déclaration d impôt
amende, pénalité, contravention
assurance, police
franchise, reste à charge
sinistre, dommage
conditions générales, cgv, cgu
rétractation, droit de rétractation
avocat, conseil juridique
tribunal, justice
acheter, acquérir, achat
commande, achat
livraison, expédition
livrer, expédier
colis, paquet
prix, tarif, coût
combien, montant, tarif
bon marché, pas cher, économique
cher, coûteux, onéreux
gratuit, sans frais
réduction, remise, rabais
promotion, offre
devis, estimation
loyer, location
louer, location
propriétaire, bailleur
locataire, preneur
déménager, changement d adresse
adresse, domicile
mairie, commune
formulaire, imprimé
remplir, compléter, renseigner
déposer, soumettre
dossier, demande
demander, solliciter
recours, contestation
autorisé, permis, admis
interdit, défendu, prohibé
interdire, défendre
obligatoire, requis, exigé
devoir, obligation
il faut, nécessaire, obligatoire
facultatif, optionnel
besoin, nécessaire
loi, législation
mode d emploi, notice, manuel
guide, manuel
carte d identité, pièce d identité
école, établissement scolaire
élève, écolier
étudiant, élève
professeur, enseignant
prof, enseignant
examen, épreuve
inscrire, inscription
médicament, traitement
ordonnance, prescription
effet secondaire, effet indésirable
douleur, mal
hôpital, clinique
téléphone, portable, mobile
portable, ordinateur portable
écran, moniteur, affichage
clavier, touches
imprimante, impression
imprimer, impression
bourrage, papier coincé
batterie, pile
chargeur, adaptateur secteur
prise, secteur
débrancher, déconnecter
télé, téléviseur, télévision
télécommande, commande à distance
frigo, réfrigérateur
lave linge, machine à laver
lave vaisselle, machine à vaisselle
allumer, activer, mettre en marche
éteindre, arrêter, mettre hors tension
démarrer, lancer
redémarrer, relancer
bouton, touche
appuyer, presser
cliquer, sélectionner
choisir, sélectionner
application, logiciel, appli
logiciel, programme
fichier, document
pièce jointe, fichier joint
mot de passe, code secret
identifiant, nom d utilisateur
se connecter, connexion, s identifier
se déconnecter, déconnexion
compte, profil
corbeille, fichiers supprimés
récupérer, restaurer
sauvegarder, enregistrer
sauvegarde, copie de sécurité
envoyer, transmettre, expédier
cacher, masquer
mise à jour, actualisation
actualiser, rafraîchir
désinstaller, supprimer
réinitialiser, remettre à zéro, paramètres d usine
bloquer, verrouiller
planter, plantage
lent, ralentissement
site, site web
nettoyer, nettoyage
bruit, sonore
fuite, fuir
ôter, retirer, enlever
monter, assembler
démonter, désassembler
utilisation, usage
obtenir, recevoir
garder, conserver
perdre, perte, égarer
volé, vol
trouver, chercher
prévenir, signaler
contacter, joindre
aide, assistance, support
commencer, débuter
finir, terminer, achever
continuer, poursuivre
réussir, parvenir
permettre, autoriser
empêcher, éviter
augmenter, accroître
diminuer, réduire, baisser
chaque jour, quotidien, par jour
chaque semaine, hebdomadaire, par semaine
chaque mois, mensuel, par mois
chaque année, annuel, par an
deux fois, double
tout de suite, immédiatement
immédiatement, sans délai
rapidement, vite
avant, préalablement
souvent, fréquemment
fréquence, combien de fois
durée, combien de temps
délai, date limite, échéance
environ, approximativement
au moins, minimum
au plus, maximum
plus de, supérieur
moins de, inférieur
assez, suffisant
trop, excessif
dangereux, danger, risque
facile, simple
difficile, compliqué
important, essentiel
raison, cause, motif
avantage, bénéfice
inconvénient, désavantage
différence, distinction
condition, exigence
but, objectif
taille, dimension
poids, masse
date de naissance, anniversaire
mari, époux, conjoint
femme, épouse
garderie, crèche
enfant, mineur
bébé, nourrisson, nouveau né
salarié, collaborateur, travailleur
employé, collaborateur, travailleur
contrat, convention
ordinateur, pc
`
